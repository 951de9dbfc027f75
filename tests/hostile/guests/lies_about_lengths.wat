;; 1: returns a gigabyte that it does not have. 2: returns an address beyond its memory. 3: sends an event of a
;; gigabyte.
(func $hostile (param $n i32) (result i32)
  (if (i32.eq (local.get $n) (i32.const 1)) (then (return (call $ok (i32.const 1024) (i32.const 1073741824)))))
  (if (i32.eq (local.get $n) (i32.const 2)) (then (return (call $ok (i32.const 0x7fffffff) (i32.const 4)))))
  (call $send (i32.const 1024) (i32.const 1073741824) (i32.const 32))
  (unreachable))
