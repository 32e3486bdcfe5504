using Corfu.Storage;

namespace Corfu.Simulation.Kernel.Disk;

/// <summary>A store's background work, as events of its simulated process.</summary>
public sealed class SimWorkers(SimProcess process) : IWorkers
{
    public TimeProvider Time => process.Time;

    public IWorker Create(string name, Func<ValueTask> step, Action<Exception> failed) =>
        new Worker(process, step, failed);

    private sealed class Worker(SimProcess process, Func<ValueTask> step, Action<Exception> failed) : IWorker
    {
        private readonly List<TaskCompletionSource> _waiting = [];
        private Task _steps = Task.CompletedTask;
        private ITimer? _timer;
        private bool _started;
        private bool _running;
        private bool _work;
        private bool _ended;

        public bool IsStopping { get; private set; }

        public void Start()
        {
            _started = true;
            if (_work) Post();
        }

        public void Kick()
        {
            _work = true;
            if (_started && !_running && !_ended) Post();
        }

        public void WakeAfter(int milliseconds)
        {
            _timer?.Dispose();
            _timer = process.Time.CreateTimer(_ => Kick(), null, TimeSpan.FromMilliseconds(milliseconds),
                Timeout.InfiniteTimeSpan);
        }

        public Task RunAsync()
        {
            if (_ended) return Task.CompletedTask;
            var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting.Add(done);
            Kick();
            return done.Task;
        }

        public async ValueTask DisposeAsync()
        {
            IsStopping = true;
            if (_started && !_ended)
            {
                Kick();
                await _steps;
            }

            _ended = true;
            _timer?.Dispose();
        }

        private void Post()
        {
            _running = true;
            var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _steps = done.Task;
            process.Context.Post(async void (_) =>
            {
                await StepsAsync();
                done.SetResult();
            }, null);
        }

        private async Task StepsAsync()
        {
            try
            {
                while (_work)
                {
                    _work = false;
                    TaskCompletionSource[] waiting = [.. _waiting];
                    _waiting.Clear();
                    await step();
                    foreach (TaskCompletionSource one in waiting) one.SetResult();
                }
            }
            catch (Exception e)
            {
                _ended = true;
                failed(e);
                foreach (TaskCompletionSource one in _waiting) one.TrySetResult();
            }

            _running = false;
        }
    }
}
