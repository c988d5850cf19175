package main

func Example() {
	main()
	// Output:
	// 2026-01-02 11:30:00 buy lamp
	// 2026-01-01 10:00:00 login -
	// 3 operations
	// refused: true
	// error: 1:17: unknown table "user_opps"
	//   SELECT uid FROM user_opps WHERE uid = 'ann'
	//                   ^
	// hint: did you mean user_ops?
}
