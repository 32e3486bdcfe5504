namespace Corfu.Cli;

/// <summary><c>corfu craq</c>: the object store beside the log.</summary>
internal static class CraqCommand
{
    public static Command Create() =>
        new("craq", "CRAQ: objects in chains of replicas, coordinated by the log.")
        {
            CraqUpCommand.Create(),
            CraqDownCommand.Create(),
            CraqStatusCommand.Create(),
            CraqNodeCommand.Create(),
            CraqChainCommand.Create(),
            CraqKeyspaceCommand.Create(),
            CraqObjectCommand.Get(),
            CraqObjectCommand.Put(),
            CraqObjectCommand.Delete(),
            CraqObjectCommand.Increment(),
            CraqObjectCommand.CompareAndSet(),
            CraqDrainCommand.Create(),
            CraqCheckCommand.Create(),
        };
}
