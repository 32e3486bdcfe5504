using Corfu.Protocol;
using Corfu.Transport;
using Corfu.Unit;
using Xunit;

namespace Corfu.Conformance;

/// <summary>Asks a handler in process, as a connection would: requests in, one batch end, answers whenever they
/// come.</summary>
internal sealed class HandlerClient : IReplySink
{
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, TaskCompletionSource<Response>> _waiting = [];
    private uint _next;
    private int _corks;

    public HandlerClient(UnitHandler handler) => Handler = handler;

    public UnitHandler Handler { get; }

    public IRoleShare? Share { get; init; }

    /// <summary>Answers in the order in which they came.</summary>
    public List<uint> Answered { get; } = [];

    /// <summary>Answers that were corked have left so many times.</summary>
    public int Flushes { get; private set; }

    public void Cork() => _corks++;

    public void Uncork(bool apart)
    {
        _corks--;
        Assert.Equal(0, _corks);
        Flushes++;
    }

    public static async Task<HandlerClient> OpenAsync(IPageStore store, UnitHandlerOptions? options = null,
        bool install = true)
    {
        var core = await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster });
        var client = new HandlerClient(new UnitHandler(Stores.Unit, core, store, options));
        if (install) await client.AskAsync(new InstallRequest(Entries.Projection(1)));
        return client;
    }

    public Task<T> AskAsync<T>(Request<T> request)
        where T : Response
    {
        var answer = Send(request);
        Handler.BatchEnd();
        return answer;
    }

    /// <summary>Again while the unit is overloaded: a disk that is slower than the test is no failure.</summary>
    public async Task<T> AskUntilTakenAsync<T>(Request<T> request)
        where T : Response
    {
        while (true)
        {
            var response = await AskAsync(request);
            if (response.Status != Status.Overloaded) return response;
            Thread.Yield();
        }
    }

    /// <summary>Without the batch end: nothing is committed for it yet.</summary>
    public async Task<T> Send<T>(Request<T> request)
        where T : Response
    {
        var done = new TaskCompletionSource<Response>(TaskCreationOptions.RunContinuationsAsynchronously);
        uint correlation;
        lock (_gate)
        {
            correlation = _next++;
            _waiting[correlation] = done;
        }

        Handler.Handle(request, new ReplyTo(this, correlation, request.Opcode));
        return (T)await done.Task;
    }

    public void Send(uint correlation, Opcode opcode, Response response)
    {
        TaskCompletionSource<Response> done;
        lock (_gate)
        {
            Assert.True(_waiting.Remove(correlation, out done!), "answered twice");
            Answered.Add(correlation);
        }

        done.SetResult(response);
    }
}
