//! Crashes and failures of disk, database and files: no acknowledged work is lost, and no partial work remains.

mod backup;
mod bucket;
mod code;
mod cut_off;
mod damage;
mod disk;
mod faults;
mod gone;
mod kills;
mod restores;
mod second;
mod stalls;
mod stops;
