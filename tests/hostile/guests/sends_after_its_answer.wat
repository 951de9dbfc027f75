;; Sends an event after its result was read.
(data (i32.const 1024) "{\22message\22:\22too late\22}")
(global $mine (mut i32) (i32.const 0))
(func $hostile (param $n i32) (result i32)
  (global.set $mine (i32.const 1))
  (call $ok (i32.const 64) (i32.const 4)))
(func (export "post-return") (param i32)
  (if (global.get $mine) (then (call $send (i32.const 1024) (i32.const 22) (i32.const 32)))))
