namespace Corfu.ZooKeeper.Serving;

/// <summary>Records that a front end appends by itself. One that is lost is sent again at a later beat.</summary>
internal static class QuietPosts
{
    /// <summary>Sends a record of sessions or front ends.</summary>
    public static void Send(FrontEndServices services, TreeRecord record)
    {
        if (services.Partitions.HasMounts) services.Loops.Start(() => UpdateAsync(services, record));
        else Send(services, NodePath.Root, record);
    }

    /// <summary>Sends a record of a single partition.</summary>
    public static void Send(FrontEndServices services, string mount, TreeRecord record)
    {
        try
        {
            services.Partitions.TreeOf(mount).Post(record, NoSink.Instance);
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            FrontEndLog.NotTaken(services.Logger, record.GetType().Name, e);
        }
    }

    private static async Task UpdateAsync(FrontEndServices services, TreeRecord record)
    {
        try
        {
            await services.Partitions.UpdateAsync(record, services.Stopped);
        }
        catch (Exception e) when (LogFaults.IsFault(e) || e is OperationCanceledException)
        {
            FrontEndLog.NotTaken(services.Logger, record.GetType().Name, e);
        }
    }

    private sealed class NoSink : IPostSink
    {
        public static NoSink Instance { get; } = new();

        public void OnAppended(RecordVersion version)
        {
        }

        public void OnInDoubt(TangoInDoubtException reason)
        {
        }

        public void OnFailed(Exception reason)
        {
        }
    }
}
