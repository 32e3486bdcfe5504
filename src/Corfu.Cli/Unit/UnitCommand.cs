using System.CommandLine;

namespace Corfu.Cli;

/// <summary><c>corfu unit</c>: storage units' folders, offline.</summary>
internal static class UnitCommand
{
    public static Command Create() => new("unit", "Look at the data folders of storage units, and format them.")
    {
        UnitCheckCommand.Create(),
        UnitInfoCommand.Create(),
        UnitFormatCommand.Create(),
    };

    public static Option<DirectoryInfo> DataOption() => new("--data")
    {
        Description = "A unit's folder, or one that has units' folders in it, such as a cluster's.",
        Required = true,
    };
}
