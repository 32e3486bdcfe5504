using System.Collections.Concurrent;
using System.IO.Pipelines;
using Salus.Nbd.Commands;
using Salus.Nbd.Limits;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Transmission;

/// <summary>
/// A connection behind its handshake. One loop reads commands; each has its place when its last byte has been read,
/// before the next one is looked at (S25). Replies leave in the order in which commands end. The connection ends after
/// all replies, however it ends: the volume uses the commands' memory until then.
/// </summary>
internal sealed class TransmissionLoop
{
    /// <summary>The part of a command without data in the budgets, so that they bound commands, too.</summary>
    private const int CommandCost = 16 << 10;

    // A client that sends more than it may is answered while its payload is no larger.
    private const uint MaxSkipped = 2 * (uint)NbdServerOptions.MaxRequest;

    private readonly ExportView _export;
    private readonly Exports.MountedVolume _mounted;
    private readonly CommandInput _input;
    private readonly ReplyQueue _replies;
    private readonly ByteBudget _own;
    private readonly ByteBudget _all;
    private readonly CommandFaults _faults;
    private readonly CancellationTokenSource _gone;

    // Idle requests: the reading loop takes, the writing thread returns.
    private readonly ConcurrentQueue<NbdRequest> _idle = new();

    private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Commands without a written reply, and 1 for the reading loop. Whichever ends last sets _closed.
    private int _open = 1;

    private volatile bool _isStopping;

    /// <param name="gone">Cancelled by this object when the client takes no replies, and by its owner.</param>
    public TransmissionLoop(ExportView export, Exports.MountedVolume mounted, IDuplexPipe transport, WaitClock clock,
        ByteBudget own, ByteBudget all, CommandFaults faults, CancellationTokenSource gone)
    {
        (_export, _mounted, _own, _all, _faults, _gone) = (export, mounted, own, all, faults, gone);
        _input = new CommandInput(transport.Input, clock, gone.Token);
        var output = new ReplyOutput(transport.Output, clock, gone.Token);
        _replies = new ReplyQueue(export, output, OnWritten, gone.Cancel);
    }

    /// <summary>Commands that come from now on are refused with ESHUTDOWN; the connection ends when none is under
    /// way.</summary>
    public void Stop()
    {
        _isStopping = true;
        _input.Wake();
    }

    /// <returns>Why the connection has ended.</returns>
    public async Task<string> RunAsync()
    {
        var end = "it disconnected";
        await using var lost = _mounted.Lost.Register(_input.Wake);
        try
        {
            while (await ReadCommandAsync().ConfigureAwait(false))
            {
            }

            if (_isStopping) end = "the server stops";
            else if (_mounted.IsLost) end = "the volume is mounted here no more";
            else if (_input.HasEnded) end = "it closed the connection";
        }
        catch (Exception e) when (e is OperationCanceledException or IOException or InvalidDataException)
        {
            end = _gone.IsCancellationRequested ? "its connection broke" : e.Message;
        }
        finally
        {
            // Reads of a client that has gone are given up; writes have their places.
            if (_input.HasEnded) _gone.Cancel();
            OnClosed();
            await _closed.Task.ConfigureAwait(false);
            await _replies.WhenIdleAsync().ConfigureAwait(false);
        }

        return end;
    }

    /// <returns>False: no command is read any more.</returns>
    private async ValueTask<bool> ReadCommandAsync()
    {
        var (found, header) = await _input.ReadHeaderAsync().ConfigureAwait(false);
        if (!found) return !_input.HasEnded && !(IsEnding && Volatile.Read(ref _open) == 1);
        if (header.Code == CommandCode.Disconnect) return false;
        var request = _idle.TryDequeue(out var idle) ? idle : new NbdRequest();
        request.Begin(header);
        var isRefused = Refuse(request);
        if (isRefused && header.Code == CommandCode.Write && header.Length > MaxSkipped)
            throw new InvalidDataException($"the client sent {header.Length} bytes in one write");
        request.Cost = CostOf(request, isRefused);
        await _own.TakeAsync(request.Cost, _gone.Token).ConfigureAwait(false);
        try
        {
            await _all.TakeAsync(request.Cost, _gone.Token).ConfigureAwait(false);
            try
            {
                if (header.Code == CommandCode.Write)
                {
                    if (isRefused) await _input.SkipPayloadAsync(header.Length).ConfigureAwait(false);
                    else
                        await _input.ReadPayloadAsync(WriteCommand.RentPayload(request, _export))
                            .ConfigureAwait(false);
                }
            }
            catch
            {
                request.Release();
                _all.Return(request.Cost);
                throw;
            }
        }
        catch
        {
            _own.Return(request.Cost);
            throw;
        }

        Interlocked.Increment(ref _open);
        request.Began = NbdTelemetry.Begin();
        if (isRefused) _replies.Add(request);
        else _ = ExecuteAsync(request);
        return true;
    }

    private bool IsEnding => _isStopping || _mounted.IsLost;

    private bool Refuse(NbdRequest request)
    {
        if (IsEnding)
        {
            request.Fail(NbdError.Shutdown, _isStopping ? "the server stops" : "the volume is mounted here no more");
            return true;
        }

        if (!CommandRules.Check(request, _export)) return true;
        if (request.Header.Length > 0) request.SetRange(_export.BlockSize);
        return false;
    }

    private long CostOf(NbdRequest request, bool isRefused) => CommandCost + request.Header.Code switch
    {
        CommandCode.Read or CommandCode.Write when !isRefused => request.Range.Blocks * _export.BlockSize,
        CommandCode.WriteZeroes when !isRefused && request.Header.Flags.HasFlag(CommandFlags.NoHole) =>
            Math.Min(request.Header.Length, NbdServerOptions.MaxRequest),
        _ => 0,
    };

    // The command has its place when this returns for the first time.
    private async Task ExecuteAsync(NbdRequest request)
    {
        try
        {
            await CommandTable.ExecuteAsync(request, _export, _gone.Token).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            _faults.Tell(request, e, _mounted);
        }

        _replies.Add(request);
    }

    private void OnWritten(NbdRequest request)
    {
        NbdTelemetry.End(request.Header, request.Error, request.Began);
        var cost = request.Cost;
        request.Release();
        _idle.Enqueue(request);
        _own.Return(cost);
        _all.Return(cost);
        OnClosed();
        if (IsEnding && Volatile.Read(ref _open) == 1) _input.Wake();
    }

    private void OnClosed()
    {
        if (Interlocked.Decrement(ref _open) == 0) _closed.SetResult();
    }
}
