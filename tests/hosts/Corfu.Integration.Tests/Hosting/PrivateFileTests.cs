using Corfu.Hosting;
using Corfu.Integration.Tests.Architecture;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Hosting;

/// <summary>Other users of the machine read nothing of a log, whatever the mask of the process that made it.</summary>
public sealed class PrivateFileTests
{
    private const UnixFileMode Others = UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.GroupExecute
        | UnixFileMode.OtherRead | UnixFileMode.OtherWrite | UnixFileMode.OtherExecute;

    [Fact]
    public async Task Folders_of_an_embedded_cluster_are_open_to_the_user_alone()
    {
        if (OperatingSystem.IsWindows()) return;
        using var folder = new TempFolder();
        var path = folder.File("cluster");
        await using (await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Folder = path }))
        {
        }

        var folders = Directory.EnumerateDirectories(path, "*", SearchOption.AllDirectories).ToList();
        Assert.NotEmpty(folders);
        Assert.All(folders.Append(path), one => Assert.True(IsPrivate(one), one));
    }

    /// <summary>The folder is there, and open to all: the files are not.</summary>
    [Fact]
    public async Task Files_that_the_tool_writes_are_open_to_the_user_alone()
    {
        if (OperatingSystem.IsWindows()) return;
        using var folder = new TempFolder();
        var path = folder.File("node");
        Directory.CreateDirectory(
            path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | Others);
        (await CorfuTool.RunProcessAsync("cluster", "init", "--dir", path, "--listen", "127.0.0.1:1")).Require();
        var files = Directory.EnumerateFiles(path, "*", SearchOption.AllDirectories).ToList();
        Assert.NotEmpty(files);
        Assert.All(files, file => Assert.True(IsPrivate(file), file));
    }

    [Fact]
    public void No_source_makes_a_folder_by_another_way()
    {
        foreach (var file in Repository.Sources("src"))
        {
            var makes = File.ReadAllText(Path.Combine(Repository.Root, file))
                .Contains("Directory.CreateDirectory(", StringComparison.Ordinal);
            Assert.True(!makes || Path.GetFileName(file) == "PrivateFolder.cs", $"{file} makes a folder.");
        }
    }

    private static bool IsPrivate(string path) =>
        OperatingSystem.IsWindows() || (File.GetUnixFileMode(path) & Others) == UnixFileMode.None;
}
