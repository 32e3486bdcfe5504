using CsCheck;
using Tango.Ledgers.Records;
using Tango.Ledgers.Tests.Support;
using Tango.Testing;

namespace Tango.Ledgers.Tests.Model;

/// <summary>Random programs of a writer, recoverers, readers and stuck processes against a list with a fence, on a log
/// that loses appends and answers.</summary>
public sealed class LedgerModelTests
{
    private enum Step
    {
        Append,
        AppendMany,
        Read,
        Hole,
        StuckFence,
        Recover,
        RecoverBeside,
        CloseBeside,
        Move,
    }

    private static readonly Gen<Step> s_step = Gen.Frequency(
        (8, Gen.Const(Step.Append)), (6, Gen.Const(Step.AppendMany)), (4, Gen.Const(Step.Read)),
        (3, Gen.Const(Step.Hole)), (1, Gen.Const(Step.StuckFence)), (1, Gen.Const(Step.Recover)),
        (1, Gen.Const(Step.RecoverBeside)), (1, Gen.Const(Step.CloseBeside)), (1, Gen.Const(Step.Move)));

    private static readonly Gen<(Step[] Steps, AppendFault[] Faults, bool Tells, int Batch)> s_run = Gen.Select(
        s_step.Array[1, 25],
        Gen.Frequency((12, Gen.Const(AppendFault.None)), (2, Gen.Const(AppendFault.LeaveHole)),
            (1, Gen.Const(AppendFault.WrittenButUnknown)), (1, Gen.Const(AppendFault.LostAndUnknown))).Array[60],
        Gen.Bool, Gen.Int[1, 30]);

    [Fact]
    public async Task Ledger_is_a_list_with_a_fence() => await s_run.SampleAsync(async run =>
    {
        var faults = new Queue<AppendFault>();
        await using var world = new LedgerWorld(new InMemoryLogOptions
        {
            NextAppendFault = () =>
            {
                lock (faults) return faults.TryDequeue(out var fault) ? fault : AppendFault.None;
            },
            TellHeaders = run.Tells,
        });
        var options = new LedgerOptions { MaxBatchBytes = run.Batch, MaxAppendsInFlight = 3, MaxBytesInFlight = 4096 };
        var model = new Run(world, await world.OpenAsync(options), await world.OpenAsync());
        await model.BeginAsync();
        foreach (var step in run.Steps)
        {
            // Faults of ledgers' appends alone: a call of the directory that is in doubt is its caller's.
            lock (faults)
            {
                faults.Clear();
                if (step is Step.Append or Step.AppendMany)
                    foreach (var fault in run.Faults) faults.Enqueue(fault);
            }

            await model.DoAsync(step);
        }

        lock (faults) faults.Clear();
        await model.EndAsync();
    }, iter: 300);

    private sealed class Run(LedgerWorld world, LedgerStore writing, LedgerStore other)
    {
        // Entries that were handed over, by id.
        private readonly List<string> _pushed = [];
        private LedgerWriter _writer = null!;
        private LedgerReader _reader = null!;
        private LogPlace _key;
        private StreamId _stream;

        // All up to it were acknowledged.
        private long _heard = -1;

        // Not null: the ledger ends there for ever.
        private long? _end;
        private bool _isFenced;

        // A recovery is under way beside the writer, or has ended.
        private bool _mayBeFenced;

        public async Task BeginAsync()
        {
            _writer = await writing.CreateAsync();
            _key = (await world.RowAsync(_writer.Id)).Key;
            _stream = await world.StreamAsync(_writer.Id);
            _reader = await other.OpenAsync(_writer.Id);
        }

        public async Task DoAsync(Step step)
        {
            switch (step)
            {
                case Step.Append:
                    await HearAsync([Push()]);
                    break;
                case Step.AppendMany:
                    await HearAsync([.. Enumerable.Range(0, 7).Select(_ => Push())]);
                    break;
                case Step.Read:
                    await ReadAsync(_reader, await _reader.ReadLastConfirmedAsync());
                    break;
                case Step.Hole:
                    await LeaveHoleAsync();
                    break;
                case Step.StuckFence:
                    await world.AppendAsync(_stream, new FenceRecord(_key));
                    (_isFenced, _mayBeFenced) = (true, true);
                    break;
                case Step.Recover:
                    await RecoverAsync();
                    break;
                case Step.RecoverBeside:
                    _mayBeFenced = true;
                    var pushed = Enumerable.Range(0, 5).Select(_ => Push()).ToArray();
                    await RecoverAsync(HearAsync(pushed));
                    break;
                case Step.CloseBeside:
                    _mayBeFenced = true;
                    var closing = CloseAsync();
                    await RecoverAsync(closing);
                    break;
                case Step.Move:
                    await other.MoveAsync(await world.Host.TailAsync());
                    break;
            }
        }

        public async Task EndAsync()
        {
            await RecoverAsync();
            await CloseAsync();
            Assert.Equal(_end, (await other.FindAsync(_writer.Id))!.LastEntry);
            await ReadAsync(_reader, await _reader.ReadLastConfirmedAsync());
            Assert.Equal(_end, _reader.LastConfirmed);
            Assert.True(_reader.IsClosed);
        }

        private Task<long> Push()
        {
            var text = $"{_pushed.Count}-{new string('x', _pushed.Count % 5)}";
            try
            {
                var append = _writer.AppendAsync(LedgerWorld.Bytes(text)).AsTask();
                _pushed.Add(text);
                return append;
            }
            catch (LedgerException e)
            {
                return Task.FromException<long>(e);
            }
        }

        private async Task HearAsync(Task<long>[] appends)
        {
            foreach (var append in appends)
            {
                try
                {
                    var id = await append;
                    Assert.Equal(_heard + 1, id);
                    Assert.False(_isFenced, $"Entry {id} was acknowledged behind a fence.");
                    Assert.True(_end is null || id <= _end, $"Entry {id} was acknowledged behind the end {_end}.");
                    _heard = id;
                }
                catch (LedgerException e)
                {
                    Assert.True(e.Error is LedgerError.LedgerFenced or LedgerError.LedgerClosed, e.Message);
                    Assert.True(_mayBeFenced, $"Nothing has ended the ledger: {e.Message}");
                }
            }
        }

        private async Task RecoverAsync(Task? beside = null)
        {
            var recovered = await other.RecoverAsync(_writer.Id);
            if (beside is not null) await beside;
            var last = recovered.LastConfirmed;
            Assert.True(last >= _heard, $"{_heard} was heard, and {last} is last.");
            _end ??= recovered.LastConfirmed;
            Assert.Equal(_end, recovered.LastConfirmed);
            (_isFenced, _mayBeFenced) = (true, true);
            await ReadAsync(recovered, recovered.LastConfirmed);
        }

        private async Task CloseAsync()
        {
            try
            {
                var closed = await _writer.CloseAsync();
                Assert.Equal(_heard, closed.LastEntry);
            }
            catch (LedgerException e)
            {
                Assert.Equal(LedgerError.LedgerFenced, e.Error);
                Assert.True((await other.FindAsync(_writer.Id))!.LastEntry > _heard);
            }
        }

        private async Task ReadAsync(LedgerReader reader, long last)
        {
            Assert.True(last >= _heard && last < _pushed.Count, $"{_heard} was heard, and {last} is confirmed.");
            Assert.True(_end is null || last <= _end);
            if (last < 0) return;
            Assert.Equal(
                string.Join(' ', _pushed.Take((int)last + 1)), await LedgerWorld.JoinAsync(reader.ReadAsync(0, last)));
        }

        private async Task LeaveHoleAsync() =>
            await world.LeaveHoleAsync(_stream, new FenceRecord(_key));
    }
}
