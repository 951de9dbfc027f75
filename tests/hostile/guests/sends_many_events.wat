;; Sends a million events.
(data (i32.const 1024) "{\22message\22:\22on it\22}")
(func $hostile (param $n i32) (result i32)
  (loop $again
    (call $send (i32.const 1024) (i32.const 19) (i32.const 32))
    (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000000))))
  (call $ok (i32.const 64) (i32.const 4)))
