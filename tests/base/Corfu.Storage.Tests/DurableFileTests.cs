namespace Corfu.Storage.Tests;

public sealed class DurableFileTests : IDisposable
{
    private readonly TempFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Replaced_file_holds_the_new_bytes_alone()
    {
        var path = _folder.File("a");
        File.WriteAllText(path, "an older and longer text");
        File.WriteAllText(path + DurableFile.FreshSuffix, "left by a call that was interrupted");
        DurableFile.Replace(path, "new"u8);
        Assert.Equal("new", File.ReadAllText(path));
        Assert.Equal([path], Directory.GetFiles(_folder.Path));
    }

    [Fact]
    public void Write_goes_to_the_given_offset()
    {
        var path = _folder.File("a");
        using (var file = File.OpenHandle(path, FileMode.Create, FileAccess.Write))
        {
            DurableFile.Write(file, path, "ab"u8, 2);
            DurableFile.Write(file, path, "cd"u8, 0);
            DurableFile.Sync(file, path);
        }

        Assert.Equal("cdab", File.ReadAllText(path));
    }

    [Fact]
    public void Write_to_a_full_device_fails_as_full()
    {
        if (!OperatingSystem.IsLinux()) return;
        using var full = File.OpenHandle("/dev/full", FileMode.Open, FileAccess.Write);
        var error = Assert.Throws<IOException>(() => DurableFile.Write(full, "/dev/full", "a"u8, 0));
        Assert.True(DurableFile.IsFull(error));
        Assert.Contains("/dev/full", error.Message);
    }

    /// <summary>EINVAL, which .NET's own flush ignores.</summary>
    [Fact]
    public void Sync_of_a_device_without_a_flush_fails()
    {
        if (!OperatingSystem.IsLinux()) return;
        using var nothing = File.OpenHandle("/dev/null", FileMode.Open, FileAccess.Write);
        RandomAccess.FlushToDisk(nothing);
        var error = Assert.Throws<IOException>(() => DurableFile.Sync(nothing, "/dev/null"));
        Assert.False(DurableFile.IsFull(error));
    }

    [Fact]
    public void Sync_of_a_missing_directory_fails()
    {
        if (OperatingSystem.IsWindows()) return;
        DurableFile.SyncDirectory(_folder.Path);
        Assert.Throws<IOException>(() => DurableFile.SyncDirectory(_folder.File("missing")));
    }

    [Fact]
    public void Numbered_files_are_listed_by_number()
    {
        foreach (var name in (string[])["log.10", "log.9", "log.", "log.x", "log.3.new", "mark"])
            File.WriteAllBytes(_folder.File(name), []);
        Assert.Equal([9, 10], DurableFile.ListNumbered(_folder.Path, "log."));
    }
}
