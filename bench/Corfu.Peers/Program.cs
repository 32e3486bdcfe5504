Console.WriteLine("peers=0 compared=0");
