//! What the generated models use of serde_with, which Debian does not package.
pub mod rust {
    pub mod double_option {
        use serde::{Deserialize, Deserializer, Serialize, Serializer};
        pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<Option<T>>, D::Error> {
            Option::<T>::deserialize(d).map(Some)
        }
        pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Option<T>>, s: S) -> Result<S::Ok, S::Error> {
            value.as_ref().unwrap_or(&None).serialize(s)
        }
    }
}
