Console.WriteLine("figures=0");
