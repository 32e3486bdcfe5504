namespace Salus.Region.Tests.Body;

/// <summary>Workers that step when a test says so, under a clock that the test moves.</summary>
internal sealed class ManualWorkers : IWorkers
{
    private readonly ManualTime _time = new();
    private Worker? _worker;

    public TimeProvider Time => _time;

    public IWorker Create(string name, Func<ValueTask> step, Action<Exception> failed) =>
        _worker = new Worker(step, failed);

    /// <summary>Lets time pass, and takes the steps that are due.</summary>
    public async Task RunAsync(TimeSpan after = default)
    {
        _time.Now += after;
        if (after > TimeSpan.Zero) _worker!.Kick();
        await _worker!.StepAsync();
    }

    private sealed class Worker(Func<ValueTask> step, Action<Exception> failed) : IWorker
    {
        private bool _work;

        public bool IsStopping { get; private set; }

        public void Start()
        {
        }

        public void Kick() => _work = true;

        public void WakeAfter(int milliseconds)
        {
        }

        public Task RunAsync() => StepAsync();

        public async Task StepAsync()
        {
            try
            {
                while (_work)
                {
                    _work = false;
                    await step();
                }
            }
            catch (Exception error)
            {
                failed(error);
                throw;
            }
        }

        public ValueTask DisposeAsync()
        {
            IsStopping = true;
            return ValueTask.CompletedTask;
        }
    }

    private sealed class ManualTime : TimeProvider
    {
        public TimeSpan Now { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now.Ticks;
    }
}
