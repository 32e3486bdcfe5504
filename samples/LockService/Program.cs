using LockServiceSample;

return await LockCommand.InvokeAsync(args, Console.Error);
