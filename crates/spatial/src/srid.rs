//! Spatial reference systems of geography: the ellipsoid that a SRID names.
//!
//! SQL Server has about 390; these are the ones whose parameters are in wide use, by EPSG's numbers. Sources: EPSG dataset;
//! SQL documentation, "Spatial Reference Identifiers (SRIDs)", "sys.spatial_reference_systems".

/// A reference system; its unit is the metre.
#[derive(Clone, Copy, Debug)]
pub struct Srid {
    pub id: i32,
    pub authority: &'static str,
    pub name: &'static str,
    pub datum: &'static str,
    pub ellipsoid: &'static str,
    /// The greater half axis, in metres.
    pub a: f64,
    /// 1 / flattening; 0 of a sphere.
    pub inverse_f: f64,
}

/// SRID of geography where none is told.
pub const DEFAULT: i32 = 4326;

const fn epsg(
    id: i32,
    name: &'static str,
    datum: &'static str,
    (ellipsoid, a, inverse_f): (&'static str, f64, f64),
) -> Srid {
    Srid { id, authority: "EPSG", name, datum, ellipsoid, a, inverse_f }
}

type Ellipsoid = (&'static str, f64, f64);

const GRS80: Ellipsoid = ("GRS 1980", 6_378_137.0, 298.257222101);
const WGS84: Ellipsoid = ("WGS 84", 6_378_137.0, 298.257223563);
const BESSEL: Ellipsoid = ("Bessel 1841", 6_377_397.155, 299.1528128);
const INTERNATIONAL: Ellipsoid = ("International 1924", 6_378_388.0, 297.0);
const CLARKE66: Ellipsoid = ("Clarke 1866", 6_378_206.4, 294.978698213898);
const CLARKE80_RGS: Ellipsoid = ("Clarke 1880 (RGS)", 6_378_249.145, 293.465);
const CLARKE80_ARC: Ellipsoid = ("Clarke 1880 (Arc)", 6_378_249.145, 293.4663077);
const CLARKE80_IGN: Ellipsoid = ("Clarke 1880 (IGN)", 6_378_249.2, 293.466021293627);
const KRASSOWSKY: Ellipsoid = ("Krassowsky 1940", 6_378_245.0, 298.3);
const AUSTRALIAN: Ellipsoid = ("Australian National Spheroid", 6_378_160.0, 298.25);
const GRS67: Ellipsoid = ("GRS 1967", 6_378_160.0, 298.247167427);
const AIRY: Ellipsoid = ("Airy 1830", 6_377_563.396, 299.3249646);
const AIRY_MODIFIED: Ellipsoid = ("Airy Modified 1849", 6_377_340.189, 299.3249646);

/// Every one, by its number.
pub const ALL: &[Srid] = &[
    epsg(4120, "Greek", "Greek", BESSEL),
    epsg(4121, "GGRS87", "Greek Geodetic Reference System 1987", GRS80),
    epsg(4148, "Hartebeesthoek94", "Hartebeesthoek94", WGS84),
    epsg(4149, "CH1903", "CH1903", BESSEL),
    epsg(4150, "CH1903+", "CH1903+", BESSEL),
    epsg(4151, "CHTRF95", "Swiss Terrestrial Reference Frame 1995", GRS80),
    epsg(4152, "NAD83(HARN)", "NAD83 (High Accuracy Regional Network)", GRS80),
    epsg(4167, "NZGD2000", "New Zealand Geodetic Datum 2000", GRS80),
    epsg(4171, "RGF93", "Reseau Geodesique Francais 1993", GRS80),
    epsg(4200, "Pulkovo 1995", "Pulkovo 1995", KRASSOWSKY),
    epsg(4202, "AGD66", "Australian Geodetic Datum 1966", AUSTRALIAN),
    epsg(4203, "AGD84", "Australian Geodetic Datum 1984", AUSTRALIAN),
    epsg(4204, "Ain el Abd", "Ain el Abd 1970", INTERNATIONAL),
    epsg(4209, "Arc 1950", "Arc 1950", CLARKE80_ARC),
    epsg(4210, "Arc 1960", "Arc 1960", CLARKE80_RGS),
    epsg(4214, "Beijing 1954", "Beijing 1954", KRASSOWSKY),
    epsg(4218, "Bogota 1975", "Bogota 1975", INTERNATIONAL),
    epsg(4222, "Cape", "Cape", CLARKE80_ARC),
    epsg(4225, "Corrego Alegre", "Corrego Alegre", INTERNATIONAL),
    epsg(4230, "ED50", "European Datum 1950", INTERNATIONAL),
    epsg(4237, "HD72", "Hungarian Datum 1972", GRS67),
    epsg(4258, "ETRS89", "European Terrestrial Reference System 1989", GRS80),
    epsg(4263, "Minna", "Minna", CLARKE80_RGS),
    epsg(4265, "Monte Mario", "Monte Mario", INTERNATIONAL),
    epsg(4267, "NAD27", "North American Datum 1927", CLARKE66),
    epsg(4269, "NAD83", "North American Datum 1983", GRS80),
    epsg(4272, "NZGD49", "New Zealand Geodetic Datum 1949", INTERNATIONAL),
    epsg(4274, "Datum 73", "Datum 73", INTERNATIONAL),
    epsg(4275, "NTF", "Nouvelle Triangulation Francaise", CLARKE80_IGN),
    epsg(4277, "OSGB 1936", "OSGB 1936", AIRY),
    epsg(4283, "GDA94", "Geocentric Datum of Australia 1994", GRS80),
    epsg(4284, "Pulkovo 1942", "Pulkovo 1942", KRASSOWSKY),
    epsg(4289, "Amersfoort", "Amersfoort", BESSEL),
    epsg(4299, "TM65", "TM65", AIRY_MODIFIED),
    epsg(4301, "Tokyo", "Tokyo", BESSEL),
    epsg(4312, "MGI", "Militar-Geographische Institut", BESSEL),
    epsg(4313, "Belge 1972", "Reseau National Belge 1972", INTERNATIONAL),
    epsg(4314, "DHDN", "Deutsches Hauptdreiecksnetz", BESSEL),
    epsg(4322, "WGS 72", "World Geodetic System 1972", ("WGS 72", 6_378_135.0, 298.26)),
    epsg(4326, "WGS 84", "World Geodetic System 1984", WGS84),
    epsg(4610, "Xian 1980", "Xian 1980", ("IAG 1975", 6_378_140.0, 298.257)),
    epsg(4612, "JGD2000", "Japanese Geodetic Datum 2000", GRS80),
    epsg(4617, "NAD83(CSRS)", "NAD83 Canadian Spatial Reference System", GRS80),
    epsg(4618, "SAD69", "South American Datum 1969", ("GRS 1967 (SAD69)", 6_378_160.0, 298.25)),
    epsg(4619, "SWEREF99", "SWEREF99", GRS80),
    epsg(4669, "LKS94", "Lithuania 1994 (ETRS89)", GRS80),
    epsg(4674, "SIRGAS 2000", "Sistema de Referencia Geocentrico para America del Sur 2000", GRS80),
    Srid {
        id: 104_001,
        authority: "Microsoft",
        name: "Unit Sphere",
        datum: "Unit Sphere",
        ellipsoid: "Sphere",
        a: 1.0,
        inverse_f: 0.0,
    },
];

/// The one of that number.
pub fn find(id: i32) -> Option<&'static Srid> {
    ALL.binary_search_by_key(&id, |srid| srid.id).ok().map(|at| &ALL[at])
}

impl Srid {
    /// Its flattening.
    pub fn f(&self) -> f64 {
        if self.inverse_f == 0.0 { 0.0 } else { 1.0 / self.inverse_f }
    }

    /// As sys.spatial_reference_systems tells it.
    pub fn well_known_text(&self) -> String {
        let Srid { name, datum, ellipsoid, a, inverse_f, .. } = self;
        let (shape, numbers) = match self.inverse_f == 0.0 {
            true => ("SPHEROID", format!("{a:.1}, {inverse_f:.1}")),
            false => ("ELLIPSOID", format!("{a}, {inverse_f}")),
        };
        format!(
            "GEOGCS[\"{name}\", DATUM[\"{datum}\", {shape}[\"{ellipsoid}\", {numbers}]], PRIMEM[\"Greenwich\", 0], \
             UNIT[\"Degree\", 0.0174532925199433]]"
        )
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_ascend() {
        assert!(super::ALL.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(super::find(super::DEFAULT).is_some());
    }
}
