using System.Globalization;
using CsCheck;
using Map = Tango.Collections.TangoLeasedDictionary<int, int>;
using MapStep = Tango.Collections.Tests.Step<Tango.Collections.TangoLeasedDictionary<int, int>,
    System.Collections.Generic.Dictionary<int, int>>;
using Queue = Tango.Collections.TangoWorkQueue<int>;

namespace Tango.Collections.Tests;

/// <summary>Random operations against simple models, while nothing expires.</summary>
public sealed class CoordinationModelTests
{
    private static readonly TimeSpan s_ttl = TimeSpan.FromHours(1);

    private static readonly Gen<MapStep> s_mapSteps = Gen.OneOf(
        Gen.Select(Gen.Int[0, 3], Gen.Int[0, 9]).Select((key, value) => MapStep.Write(
            $"set {key} {value}", map => map.SetAsync(key, value, s_ttl), model => model[key] = value)),
        Gen.Int[0, 3].Select(key => MapStep.Write(
            $"remove {key}", map => map.RemoveAsync(key), model => model.Remove(key))),
        Gen.Int[0, 3].Select(key => MapStep.Read(
            $"get {key}", map => map.TryGetAsync(key),
            model => model.TryGetValue(key, out int value) ? Lookup.Of(value) : Lookup<int>.None)),
        Gen.Const(() => MapStep.Read("count", map => map.CountAsync(), model => model.Count)));

    private static readonly ModelCheck<Map, Dictionary<int, int>> s_map = new(
        s_mapSteps, () => [],
        async map => string.Join(" ", (await map.SnapshotAsync()).OrderBy(item => item.Key)),
        model => string.Join(" ", model.OrderBy(item => item.Key)));

    [Fact]
    public Task Entries_answer_as_a_dictionary() => s_map.SequentialAsync();

    [Fact]
    public Task Concurrent_transactions_on_entries_are_serializable() => s_map.ConcurrentAsync();

    [Fact]
    public void Work_queue_answers_as_the_model() =>
        Gen.Select(Gen.Int[0, 6], Gen.Int[0, 9]).Array[1, 60].Sample(
            steps => CoordinationWorld.Run(1, async (world, _) =>
            {
                Queue[] queues =
                    [await world.NewProcess().OpenAsync<Queue>(), await world.NewProcess().OpenAsync<Queue>()];
                await queues[0].SetMaxAttemptsAsync(WorkQueueModel.MaxAttempts);
                var model = new WorkQueueModel();
                for (var i = 0; i < steps.Length; i++)
                {
                    await model.StepAsync(queues[i % 2], steps[i].Item1, steps[i].Item2);
                    await model.CompareAsync(queues[(i + 1) % 2]);
                }
            }),
            iter: 20, threads: 1,
            print: steps => string.Join("; ", steps.Select(step => $"{step.Item1} {step.Item2}")));

    /// <summary>Ready items and dead letters by their numbers, and the deliveries that are not over.</summary>
    private sealed class WorkQueueModel
    {
        public const int MaxAttempts = 2;

        private readonly SortedDictionary<long, (int Value, int Attempts)> _ready = [];
        private readonly SortedDictionary<long, int> _dead = [];
        private readonly List<Delivery<int>> _open = [];
        private readonly List<Delivery<int>> _over = [];
        private long _last;
        private long _lastToken;

        public async Task StepAsync(Queue queue, int kind, int choice)
        {
            switch (kind)
            {
                case 0 or 1:
                    await queue.EnqueueAsync(choice);
                    _ready.Add(++_last, (choice, 0));
                    break;
                case 2 or 3:
                    await ReceiveAsync(queue);
                    break;
                case 4 when _open.Count > 0:
                    Delivery<int> done = TakeOpen(choice);
                    await queue.CompleteAsync(done);
                    break;
                case 5 when _open.Count > 0:
                    Delivery<int> returned = TakeOpen(choice);
                    if (choice % 2 == 0) await returned.DisposeAsync();
                    else await queue.AbandonAsync(returned);
                    if (returned.Attempt < MaxAttempts)
                        _ready.Add(returned.Item, (returned.Value, returned.Attempt));
                    else _dead.Add(returned.Item, returned.Value);
                    break;
                case 4 or 5 when _over.Count > 0:
                    await Assert.ThrowsAsync<TangoRejectedException>(
                        () => queue.CompleteAsync(_over[choice % _over.Count]).AsTask());
                    break;
                case 6:
                    await ReviveOrDropAsync(queue, choice);
                    break;
            }
        }

        public async Task CompareAsync(Queue queue)
        {
            Assert.Equal(_ready.Count, await queue.CountAsync());
            Assert.Equal(_open.Count, await queue.DeliveredAsync());
            Assert.Equal(_dead, await queue.DeadLettersAsync());
        }

        private async Task ReceiveAsync(Queue queue)
        {
            Delivery<int>? delivery = await queue.TryReceiveAsync(s_ttl);
            if (_ready.Count == 0)
            {
                Assert.Null(delivery);
                return;
            }

            (long item, (int value, int attempts)) = _ready.First();
            _ready.Remove(item);
            Assert.Equal((item, value, attempts + 1), (delivery!.Item, delivery.Value, delivery.Attempt));
            Assert.True(delivery.Token > _lastToken, delivery.Token.ToString(CultureInfo.InvariantCulture));
            _lastToken = delivery.Token;
            _open.Add(delivery);
        }

        private async Task ReviveOrDropAsync(Queue queue, int choice)
        {
            long item = _dead.Count > 0 ? _dead.Keys.ElementAt(choice % _dead.Count) : choice;
            bool isDead = _dead.Remove(item, out int value);
            if (choice % 2 == 0)
            {
                Assert.Equal(isDead, await queue.DropAsync(item));
                return;
            }

            Assert.Equal(isDead, await queue.ReviveAsync(item));
            if (isDead) _ready.Add(item, (value, 0));
        }

        private Delivery<int> TakeOpen(int choice)
        {
            Delivery<int> taken = _open[choice % _open.Count];
            _open.Remove(taken);
            _over.Add(taken);
            return taken;
        }
    }
}
