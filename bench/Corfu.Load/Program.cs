using System.CommandLine;
using Corfu.Load;

var root = new RootCommand("Corfu: load from several processes, beside what the machine can do at best.")
{
    BaselineCommands.Echo(),
    BaselineCommands.Sequencer(),
    BaselineCommands.Disk(),
    WorkerCommand.Create(),
    BareRoleCommand.Create(),
};
return await root.Parse(args).InvokeAsync();
