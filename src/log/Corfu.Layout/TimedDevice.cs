namespace Corfu.Layout;

/// <summary>An acceptor's disk whose syncs are measured.</summary>
internal sealed class TimedDevice(IAcceptorDevice device) : IAcceptorDevice
{
    // Real time, in a simulation too: the measurement changes nothing that the acceptor does.
    private static readonly TimeProvider Time = TimeProvider.System;

    public ValueTask<byte[]> ReadAsync(int area) => device.ReadAsync(area);

    public void Write(int area, long offset, ReadOnlySpan<byte> bytes) => device.Write(area, offset, bytes);

    public void Truncate(int area, long length) => device.Truncate(area, length);

    public async ValueTask FlushAsync(int area)
    {
        var began = Time.GetTimestamp();
        await device.FlushAsync(area);
        LayoutTelemetry.SyncTime.Record(Time.GetElapsedTime(began).TotalSeconds);
    }

    public ValueTask DisposeAsync() => device.DisposeAsync();
}
