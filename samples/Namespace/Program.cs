using NamespaceSample.Cli;

return await NamespaceCommand.InvokeAsync(args, Console.Error);
