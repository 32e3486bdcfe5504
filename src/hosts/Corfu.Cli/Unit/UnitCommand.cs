using Corfu.Unit;

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

    public static Option<DirectoryInfo> DataOption() => CommonOptions.FolderOption("--data",
        "A unit's folder, or one that has units' folders in it, such as a cluster's.");

    /// <exception cref="UnitFolderException">There is none.</exception>
    public static IReadOnlyList<string> UnitsIn(DirectoryInfo folder)
    {
        var units = UnitInspector.Find(folder.FullName);
        return units.Count > 0 ? units : throw new UnitFolderException($"{folder.FullName} holds no unit.");
    }
}
