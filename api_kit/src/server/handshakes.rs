//! The end of a listener for new connections only.
//!
//! When a listening socket is closed, the kernel resets the connections whose handshake is complete and which the program
//! has not accepted. Their clients may have sent a request already. So the socket first gets a packet filter that drops
//! the first packet of each handshake, and the program accepts all connections that are left. A client whose packet was
//! dropped sends it again after a second, and is refused by the kernel then.

use std::io;

use socket2::{SockFilter, SockRef};
use tokio::net::TcpListener;

/// The place of the flags in the header of TCP.
const FLAGS_OFFSET: u32 = 13;
const SYN: u32 = 0x02;
const ACK: u32 = 0x10;

// Instructions of the classic packet filter (linux/bpf_common.h).
const LOAD_BYTE: u16 = 0x30;
const AND: u16 = 0x54;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// Lets handshakes that have begun go on, and lets no new one begin.
pub(super) fn refuse_handshakes(listener: &TcpListener) -> io::Result<()> {
    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_OFFSET),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        // Skips the next instruction unless the packet begins a handshake.
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::net::TcpStream;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn no_handshake_begins_and_complete_ones_are_accepted() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address).await else { continue };
            let address = listener.local_addr().unwrap();
            let complete = TcpStream::connect(address).await.unwrap();
            refuse_handshakes(&listener).unwrap();
            let late = timeout(Duration::from_millis(200), TcpStream::connect(address)).await;
            assert!(late.is_err(), "neither accepted nor refused: {late:?}");
            let (_accepted, from) = listener.accept().await.unwrap();
            assert_eq!(from, complete.local_addr().unwrap());
        }
    }
}
