using System.CommandLine;

namespace Corfu.Cli;

/// <summary><c>corfu cluster</c>: clusters of processes on this machine.</summary>
internal static class ClusterCommand
{
    public static Command Create() => new("cluster", "Start, look at and stop a cluster of processes on this machine.")
    {
        ClusterUpCommand.Create(),
        ClusterStatusCommand.Create(),
        ClusterDownCommand.Create(),
    };

    public static Option<DirectoryInfo> DirectoryOption() => new("--dir", "-d")
    {
        Description = "The cluster's folder.",
        HelpName = "D",
        Required = true,
    };

    public static Option<bool> JsonOption() => new("--json") { Description = "Print JSON instead of text." };
}
