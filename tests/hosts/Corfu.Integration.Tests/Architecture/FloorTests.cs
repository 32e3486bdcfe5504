namespace Corfu.Integration.Tests.Architecture;

/// <summary>The folders of Tango are floors: each uses those below it and its own only.</summary>
public sealed class FloorTests
{
    private static readonly string[][] s_floors =
    [
        // Values, and the bytes that they become.
        ["Records", "Formatting", "Errors", "Telemetry"],
        // The contract of a user's object.
        ["Objects"],
        // State that playback changes: no task, no log, no clock.
        ["Model", "Directory"],
        // Records on their way into the log; the loop that runs what is due.
        ["Calls", "Chores"],
        ["Playback", "Checkpoints", "Observers"],
        // Work that goes on by itself.
        ["Upkeep"],
        // The surface that programs call.
        ["Runtime", "Transactions", "Feeds", "History", "SecondViews", "Contexts"],
    ];

    private static readonly string s_root = Path.GetRelativePath(
        Repository.Root, Repository.FolderOf("src", "Tango"));

    [Fact]
    public void File_uses_no_higher_floor()
    {
        var upward = SourceGraph.OfProject(s_root).Uses()
            .Where(use => FloorOf(use.File) < FloorOf(use.Used))
            .Select(use => $"{use.File} uses {use.Used}");
        Assert.Equal([], upward);
    }

    [Theory]
    [InlineData("Task")]
    [InlineData("ValueTask")]
    [InlineData("ICorfuLog")]
    [InlineData("IStreamCursor")]
    [InlineData("TimeProvider")]
    [InlineData("ILogger")]
    public void Model_names_no_task_log_or_clock(string type)
    {
        var found = Repository.Sources(Path.Combine(s_root, "Model")).Where(file =>
            SourceCounts.Parse(Repository.Read(file), file)
                .GetRoot().DescendantTokens().Any(token => token.ValueText == type));
        Assert.Equal([], found);
    }

    private static int FloorOf(string file)
    {
        var folder = Path.GetRelativePath(s_root, file).Split(Path.DirectorySeparatorChar)[0];
        var floor = Array.FindIndex(s_floors, folders => folders.Contains(folder));
        return floor >= 0 ? floor : throw new InvalidOperationException($"{folder} stands on no floor.");
    }
}
