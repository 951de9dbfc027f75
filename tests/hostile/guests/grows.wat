;; Requests four gigabytes; with the number 1 it traps when they are refused.
(func $hostile (param $n i32) (result i32)
  (local $got i32)
  (local.set $got (memory.grow (i32.const 65000)))
  (if (i32.eq (local.get $n) (i32.const 1)) (then (unreachable)))
  (call $ok_number (local.get $got)))
