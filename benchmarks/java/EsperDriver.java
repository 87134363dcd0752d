import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.EventBean;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import com.espertech.esper.runtime.client.UpdateListener;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Esper behind a line protocol on standard input and output; one answer a line.
 *   data FOLDER                                  maps the columns symbol.i32, price.f64, volume.i32
 *   open MODULE_FILE LAYOUT MOVES NAME MODE NAME MODE     compiles and deploys: "ok COMPILE_MS DEPLOY_MS"
 *   run FIRST LAST                               "ok CPU_NS PROCESS_NS WALL_NS ROWS SUM SUM"
 *   heap                                         "ok BYTES" after garbage collection
 *   close | quit
 * What fails answers "error MESSAGE".
 */
public final class EsperDriver implements UpdateListener {
    static ByteBuffer symbols, prices, volumes;

    final EPRuntime runtime;
    final EPEventService service;
    final boolean temperature, joined, moves;
    final String[] types;
    final String nameOne, nameTwo;
    final char modeOne, modeTwo;
    long rows, wholeOne, wholeTwo;
    double realOne, realTwo;
    final long compileNs, deployNs;

    EsperDriver(String[] words) throws Exception {
        temperature = words[2].equals("temperature");
        joined = words[2].equals("joined");
        moves = words[3].equals("true");
        types = joined ? new String[]{"A", "B"} : new String[]{temperature ? "TemperatureSensorEvent" : "Trade"};
        nameOne = words[4];
        modeOne = words[5].charAt(0);
        nameTwo = words[6];
        modeTwo = words[7].charAt(0);
        Configuration configuration = new Configuration();
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        configuration.getCompiler().getByteCode().setThreadPoolCompilerNumThreads(0);
        configuration.getCompiler().getByteCode().setAccessModifiersPublic();
        runtime = EPRuntimeProvider.getRuntime("bench", configuration);
        runtime.initialize();
        service = runtime.getEventService();
        service.advanceTime(0);
        long began = System.nanoTime();
        EPCompiled compiled = EPCompilerProvider.getCompiler().compile(Files.readString(Path.of(words[1])), new CompilerArguments(configuration));
        compileNs = System.nanoTime() - began;
        began = System.nanoTime();
        for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
            if (statement.getName().matches("s0|q\\d+")) statement.addListener(this);
        }
        deployNs = System.nanoTime() - began;
    }

    @Override
    public void update(EventBean[] newRows, EventBean[] oldRows, EPStatement statement, EPRuntime from) {
        if (newRows == null) return;
        rows += newRows.length;
        for (EventBean row : newRows) {
            Object one = row.get(nameOne), two = row.get(nameTwo);
            switch (modeOne) {
                case 'w': if (one != null) wholeOne += ((Number) one).longValue(); break;
                case 'i': wholeOne += Long.parseLong((String) one, 1, ((String) one).length(), 10); break;
                case 't': break;
                default: if (one != null) realOne += (Double) one;
            }
            switch (modeTwo) {
                case 'w': if (two != null) wholeTwo += ((Number) two).longValue(); break;
                case 'i': wholeTwo += Long.parseLong((String) two, 1, ((String) two).length(), 10); break;
                case 't': break;
                default: if (two != null) realTwo += (Double) two;
            }
        }
    }

    /** The events first … last - 1 as object arrays in property order. */
    Object[][] build(int first, int last, String[] names) {
        Object[][] events = new Object[last - first][];
        for (int row = first; row < last; row++) {
            int symbol = symbols.getInt(4 * row);
            double price = prices.getDouble(8 * row);
            events[row - first] = temperature ? new Object[]{"E" + row, symbol, price} : joined ? new Object[]{names[symbol], price}
                : new Object[]{names[symbol], price, volumes.getInt(4 * row), row + 1L};
        }
        return events;
    }

    String run(int first, int last, String[] names) {
        Object[][] events = build(first, last, names);
        rows = wholeOne = wholeTwo = 0;
        realOne = realTwo = 0;
        System.gc();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        com.sun.management.OperatingSystemMXBean system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long process = system.getProcessCpuTime(), cpu = threads.getCurrentThreadCpuTime(), wall = System.nanoTime();
        String type = types[0];
        if (joined) {
            int row = first;
            for (Object[] event : events) service.sendEventObjectArray(event, types[row++ & 1]);
        } else if (moves) {
            long time = first + 1L;
            for (Object[] event : events) {
                service.advanceTime(time++);
                service.sendEventObjectArray(event, type);
            }
        } else {
            for (Object[] event : events) service.sendEventObjectArray(event, type);
        }
        wall = System.nanoTime() - wall;
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        process = system.getProcessCpuTime() - process;
        return "ok " + cpu + " " + process + " " + wall + " " + rows + " " + sum(modeOne, wholeOne, realOne) + " " + sum(modeTwo, wholeTwo, realTwo);
    }

    static String sum(char mode, long whole, double real) {
        return mode == 'w' || mode == 'i' || mode == 't' ? Long.toString(whole) : Double.toString(real);
    }

    static ByteBuffer map(String folder, String name) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(Path.of(folder, name).toFile(), "r")) {
            return file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    static String[] names() {
        int most = 0;
        for (int row = 0; row < symbols.capacity() / 4; row++) most = Math.max(most, symbols.getInt(4 * row));
        String[] names = new String[most + 1];
        for (int k = 0; k <= most; k++) names[k] = "S" + k;
        return names;
    }

    static long heap() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(50);
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        EsperDriver open = null;
        String[] names = {};
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            String[] words = line.split("\t");
            String answer = "ok";
            try {
                switch (words[0]) {
                    case "data":
                        symbols = map(words[1], "symbol.i32");
                        prices = map(words[1], "price.f64");
                        volumes = map(words[1], "volume.i32");
                        names = names();
                        break;
                    case "open":
                        open = new EsperDriver(words);
                        answer = "ok " + open.compileNs / 1e6 + " " + open.deployNs / 1e6;
                        break;
                    case "run": answer = open.run(Integer.parseInt(words[1]), Integer.parseInt(words[2]), names); break;
                    case "heap": answer = "ok " + heap(); break;
                    case "close":
                        open.runtime.destroy();
                        open = null;
                        break;
                    default: answer = "error unknown command " + words[0];
                }
            } catch (Exception | LinkageError failure) {
                answer = "error " + failure.toString().replace('\n', ' ');
            }
            System.out.println(answer);
            System.out.flush();
        }
        System.exit(0);
    }
}
