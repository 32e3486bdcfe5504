using JobScheduler.App;
using JobScheduler.Cli;
using JobScheduler.Silos;

return await new SchedulerCommand(Launcher.RunAsync, SiloMode.RunAsync).InvokeAsync(args, Console.Error);
