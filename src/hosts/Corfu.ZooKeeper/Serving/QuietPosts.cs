namespace Corfu.ZooKeeper.Serving;

/// <summary>Records that a front end appends by itself. One that is lost is sent again at a later beat.</summary>
internal static class QuietPosts
{
    public static void Send(FrontEndServices services, TreeRecord record)
    {
        try
        {
            services.Tree.Post(record, NoSink.Instance);
        }
        catch (Exception e) when (LogFaults.IsFault(e))
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
