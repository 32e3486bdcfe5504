namespace Corfu.Cli;

/// <summary><c>corfu salus</c>: the block store beside the log.</summary>
internal static class SalusCommand
{
    public static Command Create() =>
        new("salus", "Salus: nodes that keep volumes ('corfu volume'), coordinated by the log.")
        {
            SalusUpCommand.Create(),
            SalusDownCommand.Create(),
            SalusStatusCommand.Create(),
            SalusNodeCommand.Create(),
        };
}
