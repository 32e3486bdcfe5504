namespace Corfu.Cli;

/// <summary><c>corfu zookeeper</c>: a tree that clients of ZooKeeper use.</summary>
internal static class ZooKeeperCommand
{
    public static Command Create() =>
        new("zookeeper", "A tree of the log, for clients that speak ZooKeeper's protocol.")
        {
            ZooKeeperServeCommand.Create(),
            ZooKeeperReadCommands.Get(),
            ZooKeeperReadCommands.Ls(),
            ZooKeeperReadCommands.Dump(),
            ZooKeeperImportCommand.Create(),
            ZooKeeperConfigureCommand.Create(),
            ZooKeeperMountCommand.Create(),
        };

    /// <summary>The name of a tree.</summary>
    public static Option<string> ServiceOption() => new("--service")
    {
        Description = "Name of the tree.",
        HelpName = "NAME",
        DefaultValueFactory = _ => "main",
    };
}
