package main

func Example() {
	main()
	// Output:
	// www.example.com false 7
	// mail.example.com false 2
	// transactions: false
}
