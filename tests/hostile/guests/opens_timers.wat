;; Opens a million timers and drops none.
(func $hostile (param $n i32) (result i32)
  (loop $again
    (drop (call $subscribe (i64.const 3600000000000)))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000000))))
  (call $ok (i32.const 64) (i32.const 4)))
