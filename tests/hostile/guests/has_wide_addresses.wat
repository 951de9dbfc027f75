;; Has a memory of a terabyte with 64-bit addresses.
;;! component: (core module (memory i64 16777216))
(func $hostile (param $n i32) (result i32) (unreachable))
