//! Spatial indexes, and the reference systems of geography.
//!
//! Columns and types: SQL documentation, "sys.spatial_indexes", "sys.spatial_index_tessellations",
//! "sys.spatial_reference_systems".

use super::indexes::{self, Index};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;
use types::clr::srid::{self, Srid};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SPATIAL_INDEXES, &TESSELLATIONS, &REFERENCE_SYSTEMS];

fn spatial(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(indexes::all(context).into_iter().filter(|index| index.spatial().is_some()).collect())
}

view! {
    SPATIAL_INDEXES = "sys.spatial_indexes" of Index as i, rows spatial;
    object_id int = i.table.object_id;
    name sysname null = i.name.as_deref();
    index_id int = i.id;
    type tinyint = 4u8;
    type_desc nvarchar(60) null = "SPATIAL";
    is_unique bit null = false;
    data_space_id int null = i.data_space_id;
    ignore_dup_key bit null = false;
    is_primary_key bit null = false;
    is_unique_constraint bit null = false;
    fill_factor tinyint = i.fill_factor();
    is_padded bit null = i.options().padded;
    is_disabled bit null = i.spatial().is_some_and(|s| s.is_off);
    is_hypothetical bit null = false;
    is_ignored_in_optimization bit null = false;
    allow_row_locks bit null = !i.options().no_row_locks;
    allow_page_locks bit null = !i.options().no_page_locks;
    spatial_index_type tinyint null = i.spatial().map(|s| if s.scheme.is_geography() { 2u8 } else { 1 });
    spatial_index_type_desc nvarchar(60) null =
        i.spatial().map(|s| if s.scheme.is_geography() { "GEOGRAPHY" } else { "GEOMETRY" });
    tessellation_scheme sysname null = i.spatial().map(|s| s.scheme.name());
    has_filter bit = false;
    filter_definition nvarchar(max) null = NULL;
    auto_created bit null = false;
}

impl Index {
    /// An edge of its box.
    fn edge(&self, at: usize) -> Option<f64> {
        self.spatial()?.bounding_box.map(|edges| edges[at])
    }

    /// Cells of a level, and their name.
    fn grid(&self, level: usize) -> Option<(i16, &'static str)> {
        match self.spatial()?.grids[level] {
            1 => Some((16, "LOW")),
            2 => Some((64, "MEDIUM")),
            3 => Some((256, "HIGH")),
            _ => None,
        }
    }
}

view! {
    TESSELLATIONS = "sys.spatial_index_tessellations" of Index as i, rows spatial;
    object_id int = i.table.object_id;
    index_id int = i.id;
    tessellation_scheme sysname null = i.spatial().map(|s| s.scheme.name());
    bounding_box_xmin float null = i.edge(0);
    bounding_box_ymin float null = i.edge(1);
    bounding_box_xmax float null = i.edge(2);
    bounding_box_ymax float null = i.edge(3);
    level_1_grid smallint null = i.grid(0).map(|(cells, _)| cells);
    level_1_grid_desc nvarchar(60) null = i.grid(0).map(|(_, name)| name);
    level_2_grid smallint null = i.grid(1).map(|(cells, _)| cells);
    level_2_grid_desc nvarchar(60) null = i.grid(1).map(|(_, name)| name);
    level_3_grid smallint null = i.grid(2).map(|(cells, _)| cells);
    level_3_grid_desc nvarchar(60) null = i.grid(2).map(|(_, name)| name);
    level_4_grid smallint null = i.grid(3).map(|(cells, _)| cells);
    level_4_grid_desc nvarchar(60) null = i.grid(3).map(|(_, name)| name);
    cells_per_object int null = i.spatial().map(|s| i32::from(s.cells));
}

fn systems(_: &Context<'_>, _: &[Value]) -> Result<Vec<&'static Srid>, SqlError> {
    Ok(srid::ALL.iter().collect())
}

view! {
    REFERENCE_SYSTEMS = "sys.spatial_reference_systems" of &'static Srid as s, rows systems;
    spatial_reference_id int null = s.id;
    authority_name nvarchar(128) null = s.authority;
    authorized_spatial_reference_id int null = s.id;
    well_known_text nvarchar(4000) null = s.well_known_text();
    unit_of_measure nvarchar(128) null = "metre";
    unit_conversion_factor float null = 1.0f64;
}
