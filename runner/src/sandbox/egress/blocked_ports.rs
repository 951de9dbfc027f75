//! Ports of other protocols than HTTP, whose servers could interpret an HTTP request as a command: the list of
//! the Fetch standard, and common databases.

const BLOCKED: [u16; 92] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190,
    5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 1433, 1521, 27017,
    9042, 445,
];

/// Whether requests may go to the port only when an operator names it.
pub fn is_blocked(port: u16) -> bool {
    BLOCKED.contains(&port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_other_protocols_are_blocked() {
        assert!([22, 25, 6379, 5432].into_iter().all(is_blocked));
        assert!(![80, 443, 3000, 8080, 8443, 9200].into_iter().any(is_blocked));
    }
}
