using Corfu.Cli;

PrivateFiles.Begin();
return await CommandLine.RunAsync(args, new TerminalWriter(Console.Out), new TerminalWriter(Console.Error));
