namespace Corfu.Cli;

/// <summary><c>corfu cluster</c>: clusters of processes on this machine.</summary>
internal static class ClusterCommand
{
    private const string AddUnit =
        "Add units: new nodes are started, and new entries go to them too. What is written stays where it is.";

    private const string AddSpare = "Add spares: units that wait to take the place of one that fails.";

    private const string AddSequencer = "Add sequencers that stand by to take over.";

    public static Command Create() => new("cluster", "Start, look at and stop a cluster of processes on this machine.")
    {
        ClusterUpCommand.Create(),
        NodeInitCommands.ClusterInit(),
        ClusterStatusCommand.Create(),
        ClusterDownCommand.Create(),
        ClusterUpCommand.CreateAdd("add-unit", AddUnit,
            (shape, count) => shape with { Units = shape.Units + count, TakeUnitsIn = true }),
        ClusterUpCommand.CreateAdd("add-spare", AddSpare,
            (shape, count) => shape with { Spares = shape.Spares + count }),
        ClusterUpCommand.CreateAdd("add-sequencer", AddSequencer,
            (shape, count) => shape with { Sequencers = shape.Sequencers + count }),
    };
}
