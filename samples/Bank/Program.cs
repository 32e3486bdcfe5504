using BankSample;

return await BankCommand.InvokeAsync(args, Console.Error);
