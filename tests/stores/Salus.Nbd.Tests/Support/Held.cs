namespace Salus.Nbd.Tests.Support;

/// <summary>Holds up calls of a volume until they are let go, in any order.</summary>
internal sealed class Held
{
    private readonly List<(VolumeCall Call, TaskCompletionSource End)> _calls = [];

    /// <param name="which">The calls that are held up.</param>
    public Held(MemoryVolume volume, Func<VolumeCall, bool> which) =>
        volume.Hold = call =>
        {
            if (!which(call)) return null;
            lock (_calls)
            {
                var end = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                _calls.Add((call, end));
                return end.Task;
            }
        };

    public async Task WaitForAsync(int count)
    {
        while (true)
        {
            lock (_calls)
            {
                if (_calls.Count >= count) return;
            }

            await Task.Delay(5);
        }
    }

    public void Release(int index)
    {
        lock (_calls) _calls[index].End.SetResult();
    }

    public void Fail(int index, VolumeFault fault)
    {
        lock (_calls) _calls[index].End.SetException(new VolumeException(fault, $"a test's {fault}"));
    }
}
