;; Leaves four hundred timers behind and traps.
(func $hostile (param $n i32) (result i32)
  (loop $again
    (drop (call $subscribe (i64.const 3600000000000)))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 400))))
  (unreachable))
