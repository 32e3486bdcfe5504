using System.CommandLine;
using Corfu.Load;
using Corfu.Load.Units;

if (args is ["unit", .. var rest]) return await UnitLoad.RunAsync(rest);

var root = new RootCommand("Corfu: load from several processes, beside what the machine can do at best.")
{
    BaselineCommands.Echo(),
    BaselineCommands.Sequencer(),
    BaselineCommands.Disk(),
    WorkerCommand.Create(),
    BareRoleCommand.Create(),
};
return await root.Parse(args).InvokeAsync();
