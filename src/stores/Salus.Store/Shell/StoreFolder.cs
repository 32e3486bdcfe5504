using Salus.Store.Log;

namespace Salus.Store.Shell;

/// <summary>A store in a folder that the caller has formatted for its identity and holds locked: <c>log/</c> has the
/// segments and the mark, <c>files/</c> the checkpoint files.</summary>
public sealed class StoreFolder : IAsyncDisposable
{
    public const string LogName = "log";
    public const string FilesName = "files";

    private StoreFolder(StoreLog log, DirectoryRegionFiles files)
    {
        Log = log;
        Files = files;
    }

    public StoreLog Log { get; }

    public DirectoryRegionFiles Files { get; }

    /// <param name="mustExist">The store has served before.</param>
    /// <exception cref="LogDamagedException">The log is gone: a store that begins empty under its old identity would
    /// count as heard, and has nothing (S26).</exception>
    public static async Task<StoreFolder> OpenAsync(
        string folder, NodeId store, StoreOptions options, bool mustExist)
    {
        StoreOptions.Rules.Check(options);
        var log = Path.Combine(folder, LogName);
        if (mustExist && !File.Exists(Path.Combine(log, "mark")) && !Planted.Is("lost-store-answers-empty"))
        {
            throw new LogDamagedException(
                $"{folder} has lost the log of store {store}. Format a new store, which gets a new identity, and the "
                + "regions copy their data to it.", 0);
        }

        var opened = new StoreFolder(
            new StoreLog(new DirectorySegmentFiles(log), static (files, space, sizes) =>
                new FasterRecordLog(files, space, sizes), ThreadWorkers.Instance, store, options),
            new DirectoryRegionFiles(Path.Combine(folder, FilesName)));
        try
        {
            await opened.Log.RecoverAsync();
            return opened;
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Log.DisposeAsync();
        Files.Dispose();
    }
}
