namespace Corfu.Load;

/// <summary>A connected target of load.</summary>
internal interface IWorkload : IAsyncDisposable
{
    /// <summary>Prepares an operation, which is given the caller's number.</summary>
    Func<int, ValueTask> Prepare(int callers, int size);

    /// <summary>Operations that ended without effect since the last call.</summary>
    long TakeAborted() => 0;
}
