using System.CommandLine;
using Corfu;
using Corfu.Load;
using Corfu.Load.Suite;
using Corfu.Load.Suite.Compare;
using Corfu.Load.Units;
using Corfu.Protocol;

// Has options of its own and needs no other process.
if (args is ["unit", "fill", .. var fill]) return await UnitFill.RunAsync(fill);
if (args is ["unit", .. var rest]) return await UnitLoad.RunAsync(rest);

var root = new RootCommand("Corfu: load from several processes, beside what the machine can do at best.")
{
    AllCommand.Create(),
    CompareCommand.Create(),
    BaselineCommands.Echo(),
    BaselineCommands.Sequencer(),
    BaselineCommands.Disk(),
    ClusterCommands.Append(),
    ClusterCommands.Check(),
    ClusterCommands.Transaction(),
    RebuildCommand.Create(),
    FailoverCommand.Create(),
    TlsCommand.Create(),
    IdleCommand.Create(),
    ClientCommands.Checks(),
    ClientCommands.Holes(),
    ClientCommands.Opening(),
    ClientCommands.Objects(),
    ObjectCommands.Open(),
    ObjectCommands.Playback(),
    OrphanCommand.Create(),
    LifetimeCommand.Create(),
    MemoryCommand.Create(),
    LifetimeWriter.Create(),
    WorkerCommand.Create(),
    NodeProcessCommand.Create(),
    BareRoleCommand.Create(),
    GrpcServerCommand.Create(),
    CraqCommand.Create(),
    CraqNodeCommand.Create(),
    LedgersCommand.Create(),
    StoreCommand.Create(),
    EtcdCommand.Create(),
    EtcdServerCommand.Create(),
    MachinesCommand.Create(),
    SalusCommand.Create(),
    SalusNodeCommands.CreateNode(),
    SalusNodeCommands.CreateServe(),
};
var configuration = new InvocationConfiguration
{
    EnableDefaultExceptionHandler = false,
    // After Ctrl-C the processes that were started are stopped, and what was measured is written.
    ProcessTerminationTimeout = TimeSpan.FromSeconds(60),
};
try
{
    return await root.Parse(args).InvokeAsync(configuration);
}
catch (OperationCanceledException)
{
    return 130;
}
catch (Exception e) when (e is CorfuException or PeerException or IOException or UnauthorizedAccessException)
{
    await Console.Error.WriteLineAsync(e.Message);
    return 1;
}
