;; Traps, in a different way for each number.
(type $other (func (param i64)))
(table $wrong 2 funcref)
(elem (table $wrong) (i32.const 0) func $hostile)
(func $hostile (param $n i32) (result i32)
  (block $out (block $null (block $bad (block $zero (block $abort
    (br_table $abort $abort $zero $bad $null $out (local.get $n)))
    (unreachable))
    (return (i32.div_s (i32.const 1) (i32.sub (local.get $n) (local.get $n)))))
    (call_indirect $wrong (type $other) (i64.const 1) (i32.const 0)))
    (call_indirect $wrong (type $other) (i64.const 1) (i32.const 1)))
  (i32.load (i32.const 0x7ffffff0)))
