;; Calls itself endlessly.
(func $hostile (param $n i32) (result i32)
  (i32.add (call $hostile (i32.add (local.get $n) (i32.const 1))) (i32.const 1)))
