namespace Corfu.Register;

/// <summary>An acceptor's disk: two areas, each a growing file. Writes are volatile until a flush that began after them
/// has ended. Every error is final, except a write that finds no room. Calls are never concurrent.</summary>
public interface IAcceptorDevice : IAsyncDisposable
{
    const int Areas = 2;

    /// <summary>The whole area.</summary>
    ValueTask<byte[]> ReadAsync(int area);

    void Write(int area, long offset, ReadOnlySpan<byte> bytes);

    void Truncate(int area, long length);

    ValueTask FlushAsync(int area);
}
