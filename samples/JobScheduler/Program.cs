using JobScheduler.App;
using JobScheduler.Cli;

return await new SchedulerCommand(Launcher.RunAsync).InvokeAsync(args, Console.Error);
