using NamenodeSample;

return await NamenodeCommand.InvokeAsync(args, Console.Error);
