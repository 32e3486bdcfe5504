using System.Text;
using Corfu.StateMachines.Tests.Support;
using CsCheck;

namespace Corfu.StateMachines.Tests.Model;

/// <summary>Random programs of clients, replicas, faults, snapshots and trims against the machine's sequential
/// run.</summary>
public sealed class ModelTests
{
    private const int Replicas = 3;
    private const int Clients = 3;

    private static readonly Gen<Step> s_step = Gen.Frequency(
        (8, Gen.Select(Gen.Int[0, Replicas - 1], Gen.Int[1, 4],
            static (replica, count) => (Step)new Plain(replica, count))),
        (12, Gen.Select(Gen.Int[0, Clients - 1], Gen.Int[0, Replicas - 1], Gen.Int[0, 5],
            static (client, replica, back) => (Step)new Numbered(client, replica, back))),
        (2, Gen.Int[0, Clients - 1].Select(static client => (Step)new NewSession(client))),
        (4, Gen.Int[1, 3].Select(static fault => (Step)new Fault((AppendFault)fault))),
        (2, Gen.Int[0, Replicas - 1].Select(static replica => (Step)new Restart(replica))),
        (2, Gen.Int[0, Replicas - 1].Select(static replica => (Step)new Snapshot(replica))),
        (2, Gen.Int[0, Replicas - 1].Select(static replica => (Step)new Hold(replica))),
        (3, Gen.Int[0, Replicas - 1].Select(static replica => (Step)new Query(replica))));

    [Fact]
    public async Task Program_has_the_results_of_the_sequential_run()
    {
        var seen = new HashSet<string>();
        await s_step.Array[1, 80].SampleAsync(
            async program =>
            {
                var run = new Run();
                await run.OpenAsync();
                foreach (var step in program) await step.RunAsync(run);
                await run.EndAsync();
                lock (seen) seen.UnionWith(run.Situations);
            },
            iter: 150, threads: 1, print: static program => string.Join("\n", program.Select(step => step.ToString())));

        // Else the programs say little.
        string[] expected =
            ["Applied", "AppliedBefore", "Outdated", "SessionGone", "trimmed", "loaded", "lost by a fault"];
        Assert.Empty(expected.Except(seen));
    }

    private abstract record Step
    {
        public abstract Task RunAsync(Run run);
    }

    private sealed record Plain(int Replica, int Count) : Step
    {
        public override Task RunAsync(Run run) => run.SendAsync(Replica, Count);
    }

    private sealed record Numbered(int Client, int Replica, int Back) : Step
    {
        public override Task RunAsync(Run run) => run.SendNumberedAsync(Client, Replica, Back);
    }

    private sealed record NewSession(int Client) : Step
    {
        public override Task RunAsync(Run run) => run.OpenSessionAsync(Client);
    }

    private sealed record Fault(AppendFault What) : Step
    {
        public override Task RunAsync(Run run)
        {
            run.World.Fault(What);
            if (What == AppendFault.LostAndUnknown) run.Situations.Add("lost by a fault");
            return Task.CompletedTask;
        }
    }

    private sealed record Restart(int Replica) : Step
    {
        public override Task RunAsync(Run run) => run.RestartAsync(Replica);
    }

    private sealed record Snapshot(int Replica) : Step
    {
        public override Task RunAsync(Run run) => run.SnapshotAsync(Replica);
    }

    private sealed record Hold(int Replica) : Step
    {
        public override Task RunAsync(Run run) => run.HoldAsync(Replica);
    }

    private sealed record Query(int Replica) : Step
    {
        public override async Task RunAsync(Run run) =>
            Assert.Equal(await run.ExpectedAsync(), await run.World.ShowAsync(run.Replica(Replica)));
    }

    private sealed class Run
    {
        private readonly Replica<SumMachine>[] _replicas = new Replica<SumMachine>[Replicas];
        private readonly GatedLog[] _gates = new GatedLog[Replicas];
        private readonly (long Session, long Next)[] _clients = new (long, long)[Clients];
        private readonly SequentialRun _model;
        private int _commands;

        public Run()
        {
            World = new World();
            World.Options = World.Options with { MaxSessions = 3, Retain = TrimAsync, Attempts = 3 };
            _model = new SequentialRun(World.Log, 3);
        }

        public World World { get; }

        public HashSet<string> Situations { get; } = [];

        public Replica<SumMachine> Replica(int number) => _replicas[number];

        public async Task OpenAsync()
        {
            for (var i = 0; i < Replicas; i++) await StartAsync(i);
            for (var i = 0; i < Clients; i++) await OpenSessionAsync(i);
        }

        public async Task<string> ExpectedAsync()
        {
            await _model.PlayAsync();
            return _model.Show();
        }

        public async Task SendAsync(int replica, int count)
        {
            var sent = Enumerable.Range(0, count).Select(_ => Name("p")).ToArray();
            var outcomes = await World.Do(Task.WhenAll(
                sent.Select(name => Replica(replica).ProposeAsync(SumMachine.Bytes(name)).AsTask())));
            await _model.PlayAsync();
            foreach (var (name, outcome) in sent.Zip(outcomes)) Compare(name, outcome);
        }

        // The newest number or one before it, which was sent already.
        public async Task SendNumberedAsync(int client, int replica, int back)
        {
            var (session, next) = _clients[client];
            var number = Math.Max(0, next - back);
            if (number == next) _clients[client].Next++;
            var below = Math.Max(0, next - 2);
            var name = $"s{session}-{number}";
            await _model.PlayAsync();
            var before = _model.Seen.GetValueOrDefault(name)?.Count ?? 0;
            var outcome = await World.Do(Replica(replica).Attach(session).ProposeAsync(
                number, SumMachine.Bytes(name), Math.Min(below, number)));
            await _model.PlayAsync();
            Compare(name, outcome, before);
            Assert.True(_model.Runs(name) <= 1, $"{name} ran {_model.Runs(name)} times");
        }

        public async Task OpenSessionAsync(int client)
        {
            try
            {
                _clients[client] = ((await World.Do(Replica(0).OpenSessionAsync().AsTask())).Id, 0);
            }
            catch (LogUnavailableException)
            {
                // All attempts had a fault: the client goes on with the session that it has.
            }
        }

        public async Task RestartAsync(int replica)
        {
            await World.Do(Replica(replica).DisposeAsync().AsTask());
            await StartAsync(replica);
        }

        public async Task SnapshotAsync(int replica)
        {
            try
            {
                await World.Do(Replica(replica).SnapshotAsync().AsTask());
            }
            catch (AppendUnknownException)
            {
                // All attempts had a fault: there is no such snapshot.
            }
        }

        // The replica plays nothing while the others go on, and may be passed over.
        public async Task HoldAsync(int replica)
        {
            var other = (replica + 1) % Replicas;
            _gates[replica].HoldChecks();
            var name = Name("h");
            var own = Replica(replica).ProposeAsync(SumMachine.Bytes(name)).AsTask();
            await SendAsync(other, 2);
            for (var i = 0; i < 3; i++)
            {
                await SendAsync(other, 1);
                await SnapshotAsync(other);
            }

            _gates[replica].LetChecksGo();
            var outcome = await World.Do(own);
            await _model.PlayAsync();
            if (outcome.Status == CommandStatus.ResultLost) Situations.Add("loaded");
            Compare(name, outcome);
        }

        public async Task EndAsync()
        {
            var expected = await ExpectedAsync();
            foreach (var replica in _replicas) Assert.Equal(expected, await World.ShowAsync(replica));
            Assert.Equal(expected, await World.ShowAsync(await World.OpenAsync()));
            await World.DisposeAsync();
        }

        private string Name(string kind) => $"{kind}{_commands++}";

        private async Task StartAsync(int replica)
        {
            _gates[replica] = new GatedLog(World.Log);
            _replicas[replica] = await World.OpenAsync(log: _gates[replica]);
        }

        private async ValueTask TrimAsync(LogPosition below, CancellationToken cancellationToken)
        {
            await _model.PlayAsync();
            await World.Log.TrimPrefixAsync(below, cancellationToken);
            Situations.Add("trimmed");
        }

        /// <param name="before">Records of the number before the call, which "not applied" does not speak of.</param>
        private void Compare(string name, CommandOutcome outcome, int before = 0)
        {
            Situations.Add(outcome.Status.ToString());
            var seen = _model.Seen.GetValueOrDefault(name, []);
            var text = new StringBuilder().AppendJoin(", ", seen).ToString();
            switch (outcome.Status)
            {
                case CommandStatus.NotApplied:
                    Assert.True(seen.Count == before, $"{name} is not applied, but {text}");
                    break;
                case CommandStatus.ResultLost:
                    Assert.Contains(seen, one => one.Status == CommandStatus.Applied);
                    break;
                case CommandStatus.InDoubt:
                    break;
                default:
                    Assert.True(seen.Contains((outcome.Status, SumMachine.Text(outcome.Result))),
                        $"{name} is {outcome.Status} {SumMachine.Text(outcome.Result)}, but {text}");
                    break;
            }
        }
    }
}
