//! The world broken on purpose: nothing that was answered is lost, and nothing half-made is left.

mod code;
mod cut_off;
mod damage;
mod disk;
mod faults;
mod gone;
mod kills;
mod second;
mod stalls;
mod stops;
