;; Returns text that closes a script element, and a bidirectional override.
(data (i32.const 1024) "</script><script>alert(1)</script>\e2\80\aetxt.exe")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 44)))
