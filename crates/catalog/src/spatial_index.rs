//! Spatial indexes: what one was asked for.
//!
//! Such an index is a definition alone. Its tree stays empty and it counts as disabled wherever entries are kept up or
//! looked for, so that no plan takes it; whether ALTER INDEX disabled it is told apart. Its column is among those that it
//! includes, so that the column cannot go before it. In the system table it has
//!
//! ```text
//! scheme u8 | off u8 | cells u16 | grids 4 x u8 | has a box u8 | xmin ymin xmax ymax f64     (little-endian)
//! ```

use crate::CatalogError;
use crate::system::corrupt;
use types::Value;

/// How space is divided. SQL documentation, "CREATE SPATIAL INDEX", "sys.spatial_index_tessellations".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tessellation {
    GeometryGrid,
    GeometryAutoGrid,
    GeographyGrid,
    GeographyAutoGrid,
}

impl Tessellation {
    pub const ALL: [Tessellation; 4] = [
        Tessellation::GeometryGrid,
        Tessellation::GeometryAutoGrid,
        Tessellation::GeographyGrid,
        Tessellation::GeographyAutoGrid,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Tessellation::GeometryGrid => "GEOMETRY_GRID",
            Tessellation::GeometryAutoGrid => "GEOMETRY_AUTO_GRID",
            Tessellation::GeographyGrid => "GEOGRAPHY_GRID",
            Tessellation::GeographyAutoGrid => "GEOGRAPHY_AUTO_GRID",
        }
    }

    pub fn is_geography(self) -> bool {
        matches!(self, Tessellation::GeographyGrid | Tessellation::GeographyAutoGrid)
    }

    /// Levels have no density of their own.
    pub fn is_auto(self) -> bool {
        matches!(self, Tessellation::GeometryAutoGrid | Tessellation::GeographyAutoGrid)
    }

    /// CELLS_PER_OBJECT where it is not told.
    pub fn default_cells(self) -> u16 {
        match self {
            Tessellation::GeometryAutoGrid => 8,
            Tessellation::GeographyAutoGrid => 12,
            _ => 16,
        }
    }
}

/// A spatial index, beside what every index has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpatialIndex {
    pub scheme: Tessellation,
    /// Least x and y, greatest x and y; of geometry.
    pub bounding_box: Option<[f64; 4]>,
    /// Of each level: 1 LOW, 2 MEDIUM, 3 HIGH; nothing of an automatic scheme.
    pub grids: [u8; 4],
    /// CELLS_PER_OBJECT, 1 to 8,192.
    pub cells: u16,
    /// ALTER INDEX ... DISABLE.
    pub is_off: bool,
}

/// As kept in the system table.
pub(crate) fn pack(index: &SpatialIndex) -> Value {
    let mut bytes = vec![index.scheme as u8, u8::from(index.is_off)];
    bytes.extend_from_slice(&index.cells.to_le_bytes());
    bytes.extend_from_slice(&index.grids);
    bytes.push(u8::from(index.bounding_box.is_some()));
    for edge in index.bounding_box.iter().flatten() {
        bytes.extend_from_slice(&edge.to_le_bytes());
    }
    Value::binary(&bytes)
}

pub(crate) fn unpack(bytes: &[u8]) -> Result<SpatialIndex, CatalogError> {
    let bad = || corrupt("a spatial index that does not say what it is asked for");
    let [scheme, off, low, high, a, b, c, d, _, edges @ ..] = bytes else { return Err(bad()) };
    let edges: Vec<f64> = edges
        .chunks_exact(8)
        .filter_map(|edge| edge.try_into().ok().map(f64::from_le_bytes))
        .collect();
    Ok(SpatialIndex {
        scheme: *Tessellation::ALL.get(usize::from(*scheme)).ok_or_else(bad)?,
        bounding_box: edges.try_into().ok(),
        grids: [*a, *b, *c, *d],
        cells: u16::from_le_bytes([*low, *high]),
        is_off: *off != 0,
    })
}
